// Stands where the MCP SDK is not installed: nothing that is imported from it is there.
export {};
