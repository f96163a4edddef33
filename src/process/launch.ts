import type { Child, ChildEvents, Launch, LaunchSpec } from './child.js';
import { launchOnPipes } from './pipe-child.js';
import { checkInterpreter } from './resolve-command.js';

/** Launches on a terminal or on pipes, as the spec asks. See {@link Launch}. */
export const launch: Launch = async (spec: LaunchSpec, events: ChildEvents): Promise<Child> => {
  if (!spec.tty) return launchOnPipes(spec, events);
  checkInterpreter(spec.path, spec.cwd); // on a terminal exec fails after the start
  const { launchOnPty } = await import('./pty-child.js'); // loaded when the first terminal is asked for
  return launchOnPty(spec, events);
};
