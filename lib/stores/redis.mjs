import stores from "./redis.js";

export const { redisStore } = stores;
