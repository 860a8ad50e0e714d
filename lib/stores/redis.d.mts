export * from "./redis.js";
