import type { Task } from "tacit-device";

/** The user's limits in nats, as decimals: the second argument of `client.accept`. */
export interface Terms {
  /** Maximum epsilon of one report. */
  mostEpsilon: string;
  /** Maximum epsilon of all reports together. */
  lifetime: string;
}

/**
 * The element `<tacit-consent>`. Attributes: `suggest` preselects limits, which have no default
 * otherwise. `adopt-styles` applies the page's style sheets. `place`: the collector's origin and path,
 * where it is not the page's. Slots: `before` and `after` the form.
 */
export interface ConsentElement extends HTMLElement {
  /** The task to agree to. The element is empty without it. */
  task: Task | null;
  /** Number of answers that are sent first, as `client.countDue(task)` returns it. Required. */
  due: number | null;
  /** Limit of all reports together that the user set before, in nats. */
  lifetime: string | null;
  /** Nano-epsilon that earlier reports have spent of it: `spent` of the client's ledger, by default 0n. */
  spent: bigint;
}

/** Define the element, once. Importing this module has no effect. */
export declare function defineConsent(): void;

declare global {
  interface HTMLElementTagNameMap {
    "tacit-consent": ConsentElement;
  }
  interface HTMLElementEventMap {
    /** The user agreed to the terms in `detail`. */
    "tacit-accept": CustomEvent<Terms>;
    /** The user declined. */
    "tacit-decline": CustomEvent<null>;
  }
}
