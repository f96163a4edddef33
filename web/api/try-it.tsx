import type { JSX, TargetedEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { BASE_URL } from '../base-url.js';
import { copyText } from '../process/copy-text.js';
import { Icon } from '../ui/icon.js';
import { tell, tellFailure } from '../ui/notices.js';
import { Attempt } from './attempt.js';
import { BodyEditor } from './body-editor.js';
import { acceptable, type CallRequest, callRequest, emptyFilled, type Filled } from './call-request.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { curlLine } from './curl-line.js';
import { ParameterFields } from './parameter-fields.js';
import { ReplyView } from './reply-view.js';
import { Socket } from './socket.js';
import { SocketView } from './socket-view.js';
import type { Call, Schema } from './spec.js';

/** What the call takes, as fields, and a button that sends it. */
export function TryIt({ call, schemas }: { call: Call; schemas: Record<string, Schema> }): JSX.Element {
  const [filled, setFilled] = useState(() => emptyFilled(call));
  const [asking, setAsking] = useState(false);
  const { attempt, socket, send } = useSending();
  const change = (part: Partial<Filled>) => setFilled((before) => ({ ...before, ...part }));
  const request = callRequest(call, filled);
  const submit = (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    if (call.method === 'DELETE') setAsking(true);
    else send(request);
  };
  const sure = () => {
    setAsking(false);
    send(request);
  };
  return (
    <form class="try-it" onSubmit={submit}>
      {call.parameters.length > 0 && <ParameterFields parameters={call.parameters} filled={filled} onChange={change} />}
      {call.bodies.length > 0 && <BodyEditor call={call} filled={filled} schemas={schemas} onChange={change} />}
      <section class="part" aria-labelledby="try-title">
        <h2 id="try-title">Try it</h2>
        <div class="send-bar">
          <AcceptField types={acceptable(call)} filled={filled} onChange={change} />
          <button type="submit" class={call.method === 'DELETE' ? 'danger' : 'primary'}>
            <Icon name="send" />
            {request.socket ? 'Connect' : 'Send'}
          </button>
        </div>
        <CurlLine request={request} />
        {attempt !== null && <ReplyView attempt={attempt} />}
        {socket !== null && <SocketView socket={socket} onAsk={() => send({ ...request, socket: false })} />}
      </section>
      {asking && <ConfirmDialog request={request} onSure={sure} onClose={() => setAsking(false)} />}
    </form>
  );
}

/** One request at a time: another one, and leaving the page, ends it. */
function useSending() {
  const [attempt, setAttempt] = useState<Attempt | null>(null);
  const [socket, setSocket] = useState<Socket | null>(null);
  useEffect(() => () => attempt?.stop(), [attempt]);
  useEffect(() => () => socket?.close(), [socket]);
  const send = (request: CallRequest) => {
    setAttempt(null);
    setSocket(null);
    try {
      if (request.socket) setSocket(new Socket(request));
      else setAttempt(new Attempt(request));
    } catch (error) {
      tellFailure(error); // a subprotocol that is none
    }
  };
  return { attempt, socket, send };
}

interface AcceptFieldProps {
  types: string[];
  filled: Filled;
  onChange: (part: Partial<Filled>) => void;
}

function AcceptField({ types, filled, onChange }: AcceptFieldProps): JSX.Element | null {
  if (types.length < 2) return null;
  return (
    <label class="accept">
      <span>Answer as</span>
      <select value={filled.accept ?? ''} onChange={(event) => onChange({ accept: event.currentTarget.value })}>
        {types.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </select>
    </label>
  );
}

function CurlLine({ request }: { request: CallRequest }): JSX.Element {
  const line = curlLine(request, BASE_URL);
  const copy = () => copyText(line).then(() => tell('The curl line is on the clipboard.'), tellFailure);
  return (
    <section class="curl-line" aria-label="The same by curl">
      <pre class="code" tabindex={0}>
        {line}
      </pre>
      <button type="button" class="quiet small" aria-label="Copy the curl line" title="Copy" onClick={copy}>
        <Icon name="copy" />
      </button>
    </section>
  );
}
