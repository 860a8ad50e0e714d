// Replaces the Agent SDK's types for a project in which it is not installed.
export declare const nothing: undefined;
