"""The service as one ASGI application."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from agentdyno.garbage import look_at_new_things_alone
from agentdyno.version import __version__
from agentdyno.web import problems, routes
from agentdyno.web.limits import BodyLimits, RequestRateLimit
from agentdyno.web.metrics import Metrics, Observed
from agentdyno.web.problems import StrictJson
from agentdyno.web.routes.changes import warm_up
from agentdyno.web.schema import install_schema
from agentdyno.web.security import Gate, LastResort, SecurityHeaders
from agentdyno.web.settings import ServiceSettings
from agentdyno.web.state import Services
from agentdyno.web.static_files import Dashboard
from agentdyno.web.watching import JobWatch, told_of_shutdown

DESCRIPTION = (
    "Benchmarks of agents: runs, results, boards, comparisons, regressions and cost. Times are UTC milliseconds, "
    "durations seconds, money US dollars; what is unknown is null. Errors are RFC 9457 problem details."
)


def create_app(settings: ServiceSettings, clock: Callable[[], int] | None = None) -> FastAPI:
    """The service for ``settings``; ``clock`` gives UTC milliseconds. The store is opened when it is first asked."""
    services = Services(settings, clock)
    metrics = Metrics(__version__)
    watch = JobWatch(services.jobs, settings.poll_s, services.renew_stores)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        services.open()
        if settings.warm_up:
            for work in (look_at_new_things_alone, partial(warm_up, services), look_at_new_things_alone):
                services.in_background(work)
        watch.start()
        with told_of_shutdown(watch.stop):
            yield
        watch.stop()
        services.close()

    app = FastAPI(
        title="agentdyno",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        default_response_class=StrictJson,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.services = services
    app.state.metrics = metrics
    app.state.watch = watch
    routers = _routers()
    problems.install(app, partial(_methods_of, routers))
    for router in routers:
        app.include_router(router)
    install_schema(app)
    # The last one added is the first to see a request.
    app.add_middleware(BodyLimits, settings=settings)
    app.add_middleware(Gate, services=services, rate=RequestRateLimit(settings.rate_per_minute))
    app.add_middleware(Dashboard, folder=settings.static)
    app.add_middleware(LastResort)
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "If-None-Match"],
            expose_headers=["ETag", "Location", "Retry-After"],
            max_age=600,
        )
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Observed, metrics=metrics)
    return app


def _routers() -> list[APIRouter]:
    """Of every module of ``routes`` that has one, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(routes.__path__))
    modules = [importlib.import_module(f"{routes.__name__}.{name}") for name in names]
    found = [getattr(module, "router", None) for module in modules]
    return [router for router in found if isinstance(router, APIRouter)]


def _methods_of(routers: list[APIRouter], path: str) -> set[str]:
    every = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {method for route in every if route.path_regex.match(path) for method in route.methods or ()}
