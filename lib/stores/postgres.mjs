import stores from "./postgres.js";

export const { postgresStore } = stores;
