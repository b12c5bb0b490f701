/** Where a broker is and what to subscribe to. */
export interface At {
  protocol: string;
  url: string;
  user: string | null;
  password: string | null;
  topic: string;
}

export interface Client {
  publish(topic: string, payload: string | Uint8Array): void;
  /** Called with every message, as soon as the library has it whole. */
  onmessage: (payload: Uint8Array) => void;
}
