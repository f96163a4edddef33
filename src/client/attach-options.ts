import type { AttachAbout } from '../protocol/attach.js';
import { GatewayError } from '../protocol/error.js';
import type { FollowQuery } from '../protocol/exec-process.js';
import type { SocketClass } from './attach-socket.js';
import type { RetryOptions } from './retry.js';
import type { WireOptions } from './wire.js';

/** Whom to attach to, and how. */
export interface AttachOptions extends WireOptions, FollowQuery {
  process_id: string;
  /** Begin with what the terminal shows, in place of all that was printed: the first event paints it. Default false. */
  screen?: boolean | undefined;
  /** Look on: input and control are refused. Default false. */
  read_only?: boolean | undefined;
  /** The class of WebSockets. Default: the global one. That of browsers sends no headers, so no token: give `ticket` there. */
  WebSocket?: SocketClass | undefined;
  /**
   * Gives a new ticket for each connection, in place of a token. When it fails, it is called again as long as for a connection
   * that fails, and at first for 5 s; a `GatewayError` with a status below 500 ends it at once.
   */
  ticket?: (() => Promise<string>) | undefined;
  retry?: RetryOptions | undefined;
  /** Ends it. */
  signal?: AbortSignal | undefined;
  /** Told of a refusal of what was sent: of a resize of a process without a terminal, say. */
  on_refused?: ((about: AttachAbout, error: GatewayError) => void) | undefined;
  /** Told when the connection is lost, with the reason, and when there is one again, with null: once for each change. */
  on_line?: ((lost: GatewayError | null) => void) | undefined;
}

/** What `gateway.attach` takes: where the gateway is it knows by itself. */
export type GatewayAttachOptions = Omit<AttachOptions, 'process_id' | keyof WireOptions>;

/**
 * A new ticket for one connection, or none where none is to be had.
 * @throws {GatewayError} what `ticket` threw; all that is none as `upstream_unreachable`, with its cause
 */
export async function newTicket({ ticket }: AttachOptions): Promise<string | undefined> {
  try {
    return await ticket?.();
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('upstream_unreachable', `ticket() gave no ticket for the WebSocket: ${why}`, {}, { cause });
  }
}
