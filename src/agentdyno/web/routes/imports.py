"""Results of other tools, taken in: all files of a request or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import Response

from agentdyno.errors import ImportFailed, ImportTooLarge
from agentdyno.model.job import AuditEntry, Scope
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.problems import FieldProblem, RefusedRequest
from agentdyno.web.replies import answer
from agentdyno.web.schemas import ImportedItems, ImportedRun
from agentdyno.web.state import Services, services
from agentdyno.workbench.importing import Imported, import_files

router = APIRouter(tags=["import"])

Given = Annotated[Services, Depends(services)]
Admin = Annotated[ServiceCaller, Depends(require(Scope.ADMIN))]
MOST_FILES = 100
LONGEST_NAME = 100
_BINARY = {"type": "string", "format": "binary"}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "properties": {"file": {"type": "array", "items": _BINARY}}}
            },
            "application/octet-stream": {"schema": _BINARY},
        },
    }
}


@router.post("/import", response_model=ImportedItems, openapi_extra=_BODY)
@router.post("/api/import", response_model=ImportedItems, openapi_extra=_BODY)
async def import_results(
    request: Request,
    name: Annotated[str, Query(max_length=500, description="The name of the file, where the body is one.")] = "",
    form: Annotated[str | None, Query(alias="format", max_length=100, description="Else it is recognised.")] = None,
    *,
    given: Given,
    caller: Admin,
) -> Response:
    """Takes files of other tools into the store: as a form with files, or one as the body, with its `name`."""
    with TemporaryDirectory(prefix="dyno-import-") as folder:
        files = await _files(request, name, Path(folder))
        return answer(await run_in_threadpool(_take, given, caller, files, form or None))


@dataclass(frozen=True, slots=True)
class _SentFile:
    """A file that was sent: ``name`` as the client calls it, ``path`` where it lies while it is read."""

    name: str
    path: Path


async def _files(request: Request, name: str, folder: Path) -> list[_SentFile]:
    """What was sent, written to files piece by piece: nothing of it is held in memory."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        sent = _place(folder / "0", name or "import")
        with sent.path.open("wb") as target:
            async for piece in request.stream():
                target.write(piece)
        if not sent.path.stat().st_size:
            raise RefusedRequest(422, "there is no file in this request", "Send it as the body, or in a form.")
        return [sent]
    files: list[_SentFile] = []
    async with request.form(max_files=MOST_FILES, max_fields=MOST_FILES) as form:
        for number, item in enumerate(item for _, item in form.multi_items() if isinstance(item, UploadFile)):
            files.append(_place(folder / str(number), item.filename or "import"))
            with files[-1].path.open("wb") as target:
                await run_in_threadpool(copyfileobj, item.file, target)
    if not files:
        message = "there is no file in this form"
        raise RefusedRequest(
            422, message, "Add one: -F file=@results.json.", errors=(FieldProblem("body.file", message),)
        )
    return files


def _take(given: Services, caller: ServiceCaller, files: Sequence[_SentFile], form: str | None) -> ImportedItems:
    store = given.store
    try:
        done = import_files(
            store, [file.path for file in files], format_name=form, limits=given.settings.import_limits
        )
    except ImportFailed as error:
        raise _refusal(error, str(files[0].path.parent.parent)) from error
    items = tuple(_imported(item) for item in done)
    details = {"files": [file.name for file in files], "runs": [item.run_id for item in items if not item.known]}
    store.service.add_audit(AuditEntry(given.now_ms(), caller.name, "import", f"{len(files)} files", details))
    return ImportedItems(items)


def _refusal(error: ImportFailed, folder: str) -> RefusedRequest:
    where = _shown(error.where or "", folder)
    errors = (FieldProblem("query.format" if where == "--format" else where or "body", error.message),)
    told = f"{where}: {error.message}" if where and where != "--format" else error.message
    status = 413 if isinstance(error, ImportTooLarge) else 422
    return RefusedRequest(status, _shown(told, folder), error.remedy, errors=errors)


def _place(folder: Path, name: str) -> _SentFile:
    """Under the last part of its name, in a folder of its own: two files may be called the same."""
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w.+-]", "_", last, flags=re.ASCII)[-LONGEST_NAME:].lstrip(".") or "import"
    folder.mkdir()
    return _SentFile(name, folder / plain)


def _shown(text: str, folder: str) -> str:
    """Without the place where the files lay while they were read."""
    return re.sub(re.escape(folder) + r"/\d+/", "", text)


def _imported(item: Imported) -> ImportedRun:
    result = item.result
    return ImportedRun(
        run_id=result.run_id,
        name=result.name,
        kind=result.kind,
        file=Path(item.path).name,
        importer=item.importer,
        arms=len(result.arms),
        samples=sum(len(arm.samples) for arm in result.arms),
        known=item.known,
    )
