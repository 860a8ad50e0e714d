// Formats numbers, times and words for people.

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function shownDuration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function shownBytes(bytes = 0) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`;
}

export const shownTime = (ms) => clock.format(ms);
export const shownDay = (ms) => day.format(ms);

/** `1 task`, `2 tasks`. */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The risk levels, lowest first. */
export const RISKS = ["none", "low", "medium", "high", "critical"];

const SETS = { claude: "Claude set", classic: "Classic set", project: "Project set" };

/** Where a tool comes from, in words. */
export function originOf(tool) {
  if (tool.source === "builtin") return SETS[tool.toolset] ?? "Built in";
  if (tool.source === "plugin") return `Plugin ${tool.pluginName ?? ""}`.trim();
  if (tool.source === "mcp") return `MCP server ${tool.serverName ?? ""}`.trim();
  return "This host";
}
