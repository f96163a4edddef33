import type { JSX, TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import { sessionNotice, signIn } from '../session.js';
import { Icon } from '../ui/icon.js';
import { failureText } from '../ui/notices.js';

/** Asks for the token. */
export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: TargetedEvent<HTMLFormElement, Event>) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (error) {
      sessionNotice.value = failureText(error);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <span class="brand-mark" aria-hidden="true">
          <Icon name="key" />
        </span>
        <h1>exec-gateway</h1>
        <p>Sign in to see and drive the processes of this machine.</p>
        {sessionNotice.value !== null && (
          <p class="failure" role="alert">
            {sessionNotice.value}
          </p>
        )}
        <label class="field">
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
            aria-describedby="token-hint"
          />
        </label>
        <small id="token-hint">What the gateway printed when it started, or what it was given. Leave it empty if it asks for none.</small>
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
