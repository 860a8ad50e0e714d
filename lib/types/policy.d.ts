// The rules of a policy, and the decisions that it makes.

import type { JsonSchema } from "./schemas";

/** The decision about a call: run it, ask a person, or refuse it. */
export type PolicyAction = "allow" | "ask" | "deny";

/** What happens to calls that no rule decides. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions";

/**
 * A condition of a rule. All conditions of a rule have to be true. If one has several values, one of them
 * has to match. A condition on paths, commands or hosts means the same as the parentheses in a rule's text:
 * `{ tool: "Read", conditions: [{ pathGlob: ".env" }] }` is `Read(.env)`. A condition on a `param` applies
 * only to the named tool, in all sets.
 */
export type PolicyCondition =
  | {
      param: string;
      /** `matches` takes a regular expression without look-around and back-references. */
      operator: "equals" | "contains" | "startsWith" | "matches";
      value: string | readonly string[];
    }
  /** The resolved paths are in this directory. */
  | { pathWithin: string | readonly string[] }
  /** The resolved paths match this pattern. */
  | { pathGlob: string | readonly string[] }
  /** Every command begins with these words. */
  | { commandPrefix: string | readonly string[] }
  /** The host of the URL. `*.docs.rs` matches its subdomains. */
  | { urlHost: string | readonly string[] }
  | { riskAtLeast: "low" | "medium" | "high" | "critical" };

/** A rule as an object: the decision about calls of a tool that meet all conditions. */
export interface PolicyRule {
  /** A tool's name, `*` for all tools, or a rule's text such as `Edit(src/**)`. */
  tool: string;
  action: PolicyAction;
  /** The risk that a confirmation request shows. */
  risk?: "low" | "medium" | "high" | "critical" | undefined;
  /** A text for the person who is asked, or for the model whose call is denied. */
  message?: string | undefined;
  conditions?: readonly PolicyCondition[] | undefined;
}

/**
 * The rules of a policy. Their order does not matter: deny takes precedence over ask, and ask over allow. A
 * rule for `*` yields to a rule for the tool.
 */
export interface PolicyConfig {
  /** The decision about calls that no rule matches. Default: the permission mode decides. */
  defaultAction?: PolicyAction | undefined;
  rules?: readonly PolicyRule[] | undefined;
  /** Rules as text: `Bash(git status:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, `mcp__server__*`. */
  allow?: readonly string[] | undefined;
  ask?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}

/** A rule, and where it was written. */
export interface PolicyRuleRef {
  layer: "defaults" | "project" | "user" | "kept" | "options" | "session";
  /** Its position there, such as `deny[0]`, `rules[2]` or `allowedTools[1]`. */
  place: string;
  /** The rule as it was written, or the `tool` of a rule object. */
  text: string;
  action: PolicyAction;
  /** The conditions of a rule object, as they were written. */
  conditions?: PolicyCondition[];
}

/** The decision of policy about a call, and the reasons. */
export interface PolicyVerdict {
  action: PolicyAction;
  reason: string;
  /**
   * Where the action comes from: a rule, a rule that may apply, a protected place, the permission mode,
   * doubt about what a command line runs, or only the default. A hook can allow a call only if the basis is
   * `"default"`.
   */
  basis: "default" | "doubt" | "rule" | "possible-rule" | "protected-place" | "mode";
  /** The rule that decided, if one did. */
  rule?: PolicyRuleRef;
  risk: "none" | "low" | "medium" | "high" | "critical";
  /** The `message` of the rule. */
  message?: string;
  /** The decision about each command, redirection, path or host of the call. */
  parts: { part: string; action: PolicyAction; reason: string; rule?: PolicyRuleRef }[];
  /**
   * The narrowest rules that would allow the call, from `explain` of a registry. Missing if it is allowed, or
   * if no rule can allow it.
   */
  suggestedRules?: string[];
}

/** The decision of policy about a call of a registry, and the sandbox of its command. */
export interface ExplainedCall extends PolicyVerdict {
  /** The sandbox that the command would run in. Missing if the call runs no command, or is denied. */
  sandbox?: SandboxExplanation;
}

/** The sandbox of a command, for the files that exist when `explain` is called. */
export interface SandboxExplanation {
  /** `"none"`: this machine has no sandbox, or `sandbox` is `"off"`. Nothing below is enforced then. */
  level: "namespaces" | "landlock" | "none";
  /** The paths that it cannot read, at most 200. */
  hidden: string[];
  /** The paths that it cannot change or create, at most 200. */
  readOnly: string[];
  /** Where it may write, apart from `readOnly`. */
  writable: "anywhere" | string[];
  /** `"hosts"`: the hosts of the option `sandbox.network`. */
  network: "allow" | "deny" | "hosts";
  /** A limit that is missing here is not set. */
  limits: { cpuSeconds?: number; memoryMb?: number; processes?: number; fileSizeMb?: number };
  /** What is enforced, in sentences. */
  holds: string[];
  /** The rules that this sandbox does not enforce, in sentences. */
  doesNotHold: string[];
}

/** A rule that has a different effect than it seems to have. */
export interface PolicyLint {
  kind: "shadowed" | "redundant" | "without-effect" | "too-broad" | "unknown-tool";
  rule: PolicyRuleRef;
  message: string;
}

/** Judges calls by rules without running them. An engine is immutable. */
export declare class PolicyEngine {
  /** Compiles the rules. Throws a `ToolError` that names the rule with a mistake. */
  constructor(
    config: PolicyConfig,
    options?: {
      projectPath?: string | undefined;
      permissionMode?: PermissionMode | undefined;
    },
  );
  /** Decides whether a call is allowed, denied, or needs a confirmation. */
  evaluate(toolName: string, params?: Record<string, unknown>): PolicyAction;
  /** The decision with its reasons. */
  explain(toolName: string, params?: Record<string, unknown>): PolicyVerdict;
  /** How much harm a call of the tool could do, judged by the kind of tool alone. */
  getRiskLevel(toolName: string): "low" | "medium" | "high";
  /** Rules that are shadowed, redundant, without effect, too broad, or that name no built-in tool. */
  lint(): PolicyLint[];
  /** The JSON Schema of the policy file. */
  static readonly schema: JsonSchema;
}
