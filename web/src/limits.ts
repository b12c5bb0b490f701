/**
 * Every bound of the dashboard, in one place.
 *
 * Whatever the gateway sends and however long a tab stays open, memory stays under the sum of these: the
 * curves' rings are the largest part, `SELECTED_MAX * RING_POINTS * 16` bytes, 6.6 MB.
 */

/** Datastreams whose curves and bars may be on screen together. */
export const SELECTED_MAX = 50;
/** Points kept of each selected datastream; the oldest leaves first. */
export const RING_POINTS = 8192;
/** Datastreams the list holds; further ones are counted, not kept. */
export const DATASTREAMS_MAX = 20_000;
/** Positions kept of a thing that moves. */
export const TRACK_POINTS = 4096;
/** Located things drawn on the plan. */
export const PLACES_MAX = 500;
/** Gaps kept for the list and the marks in the curves; all are counted. */
export const GAPS_MAX = 32;
/** Samples behind each mean and percentile of the latency panel. */
export const SAMPLES = 512;
/** Values behind each small line of the latency panel. */
export const SPARK_POINTS = 60;

/** A message longer than this is refused, and the connection with it: bytes. */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Rows a history page may ask for. */
export const HISTORY_PAGE = 5000;
/** Pages fetched for one datastream and one range. */
export const HISTORY_PAGES_MAX = 4;
/** Points a curve can show; a longer range asks the gateway for one value in so many seconds. */
export const CURVE_POINTS = 1200;

/** Time between two polls, in milliseconds. */
export const POLL_MS = 1000;
/** How long a long poll may stay open, in seconds. */
export const WAIT_S = 30;
/** Age of a position that several filters of an MQTT connection have reached, in milliseconds. */
export const SETTLE_MS = 10_000;
/** So much between two answers may mean that the gateway holds more back: half of what it lets wait, in bytes. */
export const SETTLE_BYTES = 32 * 1024;
/** Longest silence on an MQTT connection before the page asks whether the gateway is there, in seconds. */
export const KEEP_ALIVE_S = 120;
/** How long the gateway may take to accept an MQTT connection, in milliseconds. */
export const CONNECT_MS = 10_000;
/** First and longest pause before a new connection, in milliseconds; each pause is drawn at random below. */
export const RETRY_FIRST_MS = 500;
export const RETRY_MAX_MS = 15_000;
/** Time between two readings of the catalog, in milliseconds. */
export const CATALOG_MS = 10_000;
/** Shortest time between two drawings of the curves, in milliseconds; bars follow every frame. */
export const CURVES_MS = 33;
/** How long a notice stays, in milliseconds. */
export const NOTICE_MS = 12_000;
/** Time between two updates of figures that a person reads, in milliseconds. */
export const FIGURES_MS = 250;
/** Problems that are listed; the catalog has the rest. */
export const PROBLEMS_SHOWN = 50;
