export * from "./agent-sdk.js";
