import type { Child, ChildEvents, Launch, LaunchSpec } from './child.js';
import { nativeLaunch } from './native-child.js';
import { launchOnPipes } from './pipe-child.js';
import { checkInterpreter } from './resolve-command.js';

/**
 * By child_process and node-pty: everywhere, but slower the more memory the gateway has. node-pty is loaded now, and only
 * where it is needed: later there may be no descriptor to load it with.
 */
function portableLaunch(): Launch {
  const terminals = import('./pty-child.js');
  return async (spec: LaunchSpec, events: ChildEvents): Promise<Child> => {
    if (!spec.tty) return launchOnPipes(spec, events);
    const { launchOnPty } = await terminals;
    checkInterpreter(spec.path, spec.cwd); // on a terminal exec fails after the start
    return launchOnPty(spec, events);
  };
}

const native = process.env.EXEC_GATEWAY_LAUNCHER === 'portable' ? null : nativeLaunch;

/** Launches on a terminal or on pipes, as the spec asks: natively where that works, unless EXEC_GATEWAY_LAUNCHER is `portable`. */
export const launch: Launch = native ?? portableLaunch();
