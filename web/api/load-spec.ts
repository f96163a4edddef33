import { askText } from '../session.js';
import { readSpec, type Spec } from './spec.js';

let loading: Promise<Spec> | null = null;

/**
 * The spec of this gateway, asked for once.
 * @throws {GatewayError} what the gateway says, `upstream_unreachable`
 */
export function loadSpec(): Promise<Spec> {
  loading ??= askText('/openapi.json', new AbortController().signal).then((text) => readSpec(JSON.parse(text)));
  loading.catch(() => {
    loading = null;
  });
  return loading;
}
