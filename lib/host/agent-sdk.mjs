import module from "./agent-sdk.js";

export const { agentSdkSpawner } = module;
