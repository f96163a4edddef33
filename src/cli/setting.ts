import { Option } from 'commander';

/** A flag that can be given as a variable too: `--max-closed` is `EXEC_GATEWAY_MAX_CLOSED`. */
export function setting(flags: string, description: string): Option {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? '';
  return new Option(flags, description).env(`EXEC_GATEWAY_${name.toUpperCase().replaceAll('-', '_')}`);
}
