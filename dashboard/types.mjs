// Writes the types of the API's schemas: node types.mjs OPENAPI_JSON TYPES_TS
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const [from, to] = process.argv.slice(2);
// The titles are the names of the fields once more.
const document = JSON.parse(readFileSync(from, "utf8"), (key, value) =>
  key === "title" && typeof value === "string" ? undefined : value,
);
const nodes = await openapiTS(
  // The paths are left out: addresses are written by hand, and every error of every one would be listed again.
  { ...document, info: { title: "agentdyno", version: "" }, paths: {} },
  { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true, defaultNonNullable: false, silent: true },
);
const head = "/* What the API takes and gives. Written by scripts/dashboard.sh from openapi.json: do not edit. */\n\n";
writeFileSync(to, head + astToString(nodes));
