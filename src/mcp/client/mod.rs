//! Connects to other MCP servers and brings their tools into the registry.
