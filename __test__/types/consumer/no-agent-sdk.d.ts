// Stands where the Agent SDK is not installed: what is imported from it is not there.
export declare const nothing: undefined;
