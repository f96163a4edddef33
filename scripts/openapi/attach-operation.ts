import { Type } from '@sinclair/typebox';
import { AttachControl, AttachEvent } from '../../src/protocol/attach.js';
import { CODES, type Operation } from './operation.js';

/** `GET /processes/{process_id}/attach`. */
export const ATTACH_OPERATION: Operation = {
  operationId: 'attachProcess',
  tag: 'Output',
  summary: 'Attach to a process',
  description: `A WebSocket (RFC 6455): output as it comes, input as it is given. What is refused is refused before the 101, as in any other call; a plain GET meets the same checks and then 426.

Without a subprotocol, binary messages are the bytes of the process, both ways, and text messages are input too; nothing else is sent. The connection ends with 1000 and the reason {"exit_code", "signal"}. Output that was evicted before the start is told by Exec-Gap in the 101; a viewer that falls behind what is retained later is closed with 4410. Input that the process does not take closes with 4409, but for that of a process that has ended; with read_only it is passed over. No other size can be given: POST …/resize does that.

With the subprotocol exec-gateway.v1, text messages are JSON: AttachEvent from the gateway, a hello first, and AttachControl from the viewer. A binary message of the gateway is the seq of a chunk, as 8 bytes, big-endian, and its bytes; one of the viewer is the offset of its bytes in the whole input, in the same form, and these bytes. With screen=true the first binary message paints what the terminal shows, and bears the seq of the last event on it; the next ones go on from there. The end of a process is told after it also when it had ended before: exited and closed with their seqs. Only an exited after which others printed to the terminal comes before the painting, as its seq does. Input that was accepted before is passed over; a range ahead is refused by an error with accepted_bytes, from where to send again. Where others have written meanwhile, stdin_offset_behind tells so, and input is passed over until the viewer says {"type": "input", "offset": accepted_bytes} and sends again from there. Keep less than 256 KiB of input that is not accepted yet: with more the viewer is not read, and its signals and resizes wait too. What cannot be done is told by an error, and the connection goes on; with read_only, or a ticket to read, that is all input and control but detach (error read_only).

All viewers share the one size of the terminal: the last one to set it wins, and nobody is told; GET /processes/{process_id} says what it is.

An error ends a connection with 4000 + its status and the reason {"code"}. 1001: the gateway shuts down. 1009, with the reason {"code": "payload_too_large", "limit"}: a message was larger than 4 MiB. A ping is sent after every heartbeat (15 s); a viewer that does not answer it before the next is dropped.`,
  headers: ['Sec-WebSocket-Protocol'],
  ticket: true,
  replies: {
    101: {
      description: 'The connection is a WebSocket from here on. With exec-gateway.v1 each text message is one of these.',
      content: {
        'application/json': { schema: Type.Union([AttachEvent, AttachControl]), example: { type: 'resize', cols: 120, rows: 40 } },
      },
      headers: ['Exec-Gap', 'Sec-WebSocket-Protocol'],
    },
  },
  errors: [
    'invalid_request',
    'invalid_cursor',
    ...CODES.TICKET,
    ...CODES.ONE,
    'not_a_tty',
    'screen_too_large',
    'cursor_ahead',
    'upgrade_required',
  ],
};
