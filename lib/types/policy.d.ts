// Rules for what may run, what is asked and what is denied, and what is said of a call by them.

/** What is to be done with a call. */
export type PolicyAction = "allow" | "ask" | "deny";

/** What happens to calls that no rule decides. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions";

/**
 * All of a rule's conditions have to hold. Of several values one has to fit. A condition on paths, commands
 * or hosts is what stands in the parentheses of a rule's text: `{ tool: "Read", conditions: [{ pathGlob:
 * ".env" }] }` is `Read(.env)`. A condition on a `param` is about the named tool alone, and the same tool
 * in other sets.
 */
export type PolicyCondition =
  | {
      param: string;
      /** `matches` takes a regular expression without look-around and back-references. */
      operator: "equals" | "contains" | "startsWith" | "matches";
      value: string | readonly string[];
    }
  /** The resolved paths lie in this directory. */
  | { pathWithin: string | readonly string[] }
  /** The resolved paths match this pattern. */
  | { pathGlob: string | readonly string[] }
  /** Every command begins with these words. */
  | { commandPrefix: string | readonly string[] }
  /** The URL's host; `*.docs.rs` is every host below. */
  | { urlHost: string | readonly string[] }
  | { riskAtLeast: "low" | "medium" | "high" | "critical" };

/** What is to be done with calls of a tool, where all of its conditions hold. */
export interface PolicyRule {
  /** A tool's name, `*` for all, or a rule's text such as `Edit(src/**)`. */
  tool: string;
  action: PolicyAction;
  /** What a person is shown. */
  risk?: "low" | "medium" | "high" | "critical" | undefined;
  /** What a person or a model is told. */
  message?: string | undefined;
  conditions?: readonly PolicyCondition[] | undefined;
}

/**
 * Rules, in any order: deny goes before ask, ask before allow; a rule for `*` steps back behind a rule for
 * the tool.
 */
export interface PolicyConfig {
  /** What happens to calls that no rule decides. Without it, the permission mode decides. */
  defaultAction?: PolicyAction | undefined;
  rules?: readonly PolicyRule[] | undefined;
  /** Rules as text: `Bash(git status:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, `mcp__server__*`. */
  allow?: readonly string[] | undefined;
  ask?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}

/** A rule and where it comes from. */
export interface PolicyRuleRef {
  layer: "defaults" | "project" | "user" | "options" | "session";
  /** Its place there, such as `deny[0]`, `rules[2]` or `allowedTools[1]`. */
  place: string;
  /** As it is written; the `tool` of a rule object. */
  text: string;
  action: PolicyAction;
  /** The conditions of a rule object, as they are written. */
  conditions?: PolicyCondition[];
}

/** What policy says of a call, and why. */
export interface PolicyVerdict {
  action: PolicyAction;
  reason: string;
  /**
   * What the action rests on: a rule, one that may apply, a protected place, the mode, a doubt about what a
   * command line runs, or the default alone. Only what the default alone asks about can a hook allow.
   */
  basis: "default" | "doubt" | "rule" | "possible-rule" | "protected-place" | "mode";
  /** The rule that decided, if one did. */
  rule?: PolicyRuleRef;
  risk: "none" | "low" | "medium" | "high" | "critical";
  /** The rule's own words. */
  message?: string;
  /** The same for each command, redirection, path or host. */
  parts: { part: string; action: PolicyAction; reason: string; rule?: PolicyRuleRef }[];
}

/** A rule that does not do what it looks like. */
export interface PolicyLint {
  kind: "shadowed" | "redundant" | "without-effect" | "too-broad" | "unknown-tool";
  rule: PolicyRuleRef;
  message: string;
}
