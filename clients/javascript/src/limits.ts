/** Bounds of the client beside those of the delivery schemes (`web/src/limits.ts`). */

/** Events that wait for the program; beyond, the connection is let go and made anew when they are worked off. */
export const EVENTS_MAX = 4096;
/** How often a publication is sent until its failure is the program's. */
export const ATTEMPTS_MAX = 5;
/** Observations of a page of history, where none are asked for: the gateway's own limit. */
export const HISTORY_PAGE = 10_000;
