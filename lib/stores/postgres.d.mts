export * from "./postgres.js";
