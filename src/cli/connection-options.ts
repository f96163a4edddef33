import { type Command, InvalidArgumentError } from 'commander';
import { setting } from './setting.js';

/** Which gateway a command speaks to. */
export interface ConnectionOptions {
  /** `http://…`, `https://…` or `unix:PATH`. */
  url: string;
  tokenFile?: string;
}

/** Adds the flags of {@link ConnectionOptions}. */
export function withConnection(command: Command): Command {
  return command
    .addOption(
      setting('--url <url>', 'the gateway: http://HOST:PORT, https://… or unix:PATH')
        .default('http://127.0.0.1:8787')
        .argParser(gatewayUrl),
    )
    .addOption(setting('--token-file <path>', 'file that holds its bearer token; else EXEC_GATEWAY_TOKEN'));
}

/** Reads the address of a gateway. */
export function gatewayUrl(text: string): string {
  if (text.startsWith('unix:') && text.length > 5) return text;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Give http://HOST:PORT, an https: URL, or unix:PATH.');
}
