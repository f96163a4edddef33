import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { bytesText } from '../format.js';
import { Icon } from '../ui/icon.js';
import type { Socket, SocketMessage } from './socket.js';

/** What goes over a WebSocket, and a line to send. Why one was refused a browser does not tell; the same without a WebSocket does. */
export function SocketView({ socket, onAsk }: { socket: Socket; onAsk: () => void }): JSX.Element {
  const { phase, messages, end, refused } = socket.state.value;
  return (
    <div class="reply-view">
      <div class="reply-line">
        <p role="status">
          <span class={phase === 'closed' && refused ? 'status bad' : 'status good'}>
            {phase === 'open' ? 'Connected' : phase === 'connecting' ? 'Connecting…' : (end ?? 'Closed')}
          </span>
        </p>
        <span class="spring" />
        {phase === 'open' && (
          <button type="button" onClick={() => socket.close()}>
            <Icon name="stop" />
            Close
          </button>
        )}
        {refused && (
          <button type="button" onClick={onAsk}>
            Ask why
          </button>
        )}
      </div>
      {phase === 'open' && <MessageField onSend={(text) => socket.send(text)} />}
      <ol class="messages" aria-label="Messages" tabindex={0}>
        {messages.map((message) => (
          <li key={message.id} class={message.from === 'page' ? 'sent' : 'came'}>
            <Message message={message} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Message({ message: { from, text, bytes } }: { message: SocketMessage }): JSX.Element {
  return (
    <>
      <small>
        {from === 'page' ? 'Sent' : 'Came'}
        {bytes === null ? '' : `, ${bytesText(bytes)}`}
      </small>
      <pre class="code">{text}</pre>
    </>
  );
}

/** Shift and Enter makes a new line; Enter sends. It stands in the form of the call, and sends that not. */
function MessageField({ onSend }: { onSend: (text: string) => void }): JSX.Element {
  const [text, setText] = useState('');
  const send = () => {
    onSend(text);
    setText('');
  };
  const keyed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <div class="message-field">
      <textarea
        class="mono"
        rows={2}
        spellcheck={false}
        aria-label="Message to send"
        placeholder="A text message; Shift+Enter for a new line"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={keyed}
      />
      <button type="button" onClick={send}>
        <Icon name="send" />
        Send the message
      </button>
    </div>
  );
}
