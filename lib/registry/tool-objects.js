"use strict";

/**
 * @import { NativeRegistry } from "../../native/binding"
 * @import { AnyTool, RegisteredTool } from "../types/tools"
 */

/**
 * The tool objects that `get` and `list` return, by name. The same name gives the same object until the
 * addon has another registration under it.
 */
class ToolObjects {
  #native;
  #create;
  /**
   * By name. The id is the registration that the object stands for.
   *
   * @type {Map<string, { id: number, object: AnyTool }>}
   */
  #objects = new Map();
  /**
   * The names in `#objects` that belong to built-in tools.
   *
   * @type {Set<string>}
   */
  #builtins = new Set();

  /**
   * @param {NativeRegistry} native
   * @param {(name: string, id: number) => RegisteredTool | undefined} create makes the object of a tool that the host did not register
   */
  constructor(native, create) {
    this.#native = native;
    this.#create = create;
  }

  /**
   * @param {string} name
   * @returns {AnyTool | undefined}
   */
  get(name) {
    const id = this.#native.lookup(name) ?? undefined;
    if (id === undefined) return undefined;
    const known = this.registered(name, id);
    if (known !== undefined) return known;
    const object = this.#create(name, id);
    if (object === undefined) return undefined;
    // Looked up again by its real name, so that an alias returns the same object.
    const real = this.registered(object.name, id);
    if (real !== undefined) return real;
    this.#objects.set(object.name, { id, object });
    if (object.source === "builtin") this.#builtins.add(object.name);
    return object;
  }

  /**
   * The object stored for a name, unless the registration has changed since.
   *
   * @param {string} name
   * @param {number | undefined} id
   */
  registered(name, id) {
    const entry = this.#objects.get(name);
    return entry !== undefined && entry.id === id ? entry.object : undefined;
  }

  /**
   * Stores the object of a new registration. Without an object, `get` makes one.
   *
   * @param {string} name
   * @param {number} id
   * @param {AnyTool | undefined} object
   */
  replace(name, id, object) {
    this.#builtins.delete(name);
    if (object === undefined) this.#objects.delete(name);
    else this.#objects.set(name, { id, object });
    this.forgetOutdated();
  }

  /** @param {string[]} names */
  remove(names) {
    for (const name of names) {
      this.#builtins.delete(name);
      this.#objects.delete(name);
    }
    this.forgetOutdated();
  }

  /**
   * Drops built-in tools whose description has changed. One tool of a set names the workspace in its
   * description. Which tool does depends on the tools that are registered and enabled.
   */
  forgetOutdated() {
    for (const name of this.#builtins) {
      const known = this.#objects.get(name)?.object.description;
      const info = this.#native.info(name) ?? undefined;
      if (info !== undefined && JSON.parse(info).description === known) continue;
      this.#builtins.delete(name);
      this.#objects.delete(name);
    }
  }
}

exports.ToolObjects = ToolObjects;
