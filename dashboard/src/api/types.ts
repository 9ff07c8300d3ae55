/** What the API answers with, field by field as the dataclasses of agentdyno.model have it. */
export * from "./types/boards";
export * from "./types/conclusions";
export * from "./types/runs";
export * from "./types/service";
export * from "./types/standings";
export * from "./types/stress";
