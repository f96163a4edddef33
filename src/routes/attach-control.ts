import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { explain } from '../plugins/explain.js';
import { ATTACH_CONTROLS, type AttachAbout, type AttachControl } from '../protocol/attach.js';
import { GatewayError } from '../protocol/error.js';
import { checkJsonBounds } from '../protocol/json-bounds.js';

type Name = keyof typeof ATTACH_CONTROLS;

const NAMES = Object.keys(ATTACH_CONTROLS) as Name[];

/** Made when first needed: the words that schemas use are told to the compiler when the server is built. */
const checks = new Map<Name, TypeCheck<(typeof ATTACH_CONTROLS)[Name]>>();

function checkOf(name: Name): TypeCheck<(typeof ATTACH_CONTROLS)[Name]> {
  const check = checks.get(name) ?? TypeCompiler.Compile<(typeof ATTACH_CONTROLS)[Name]>(ATTACH_CONTROLS[name]);
  checks.set(name, check);
  return check;
}

/** What a text message of a viewer asks for, or why it cannot be taken and what it was about. */
export function readControl(bytes: Buffer): AttachControl | { about: AttachAbout; error: GatewayError } {
  let value: unknown;
  try {
    checkJsonBounds(bytes);
    value = JSON.parse(bytes.toString());
  } catch (error) {
    return { about: 'message', error: error instanceof GatewayError ? error : notJson() };
  }
  const { type } = (value ?? {}) as { type?: unknown };
  const name = NAMES.find((known) => known === type);
  if (name === undefined) return { about: 'message', error: unknownType() };
  const check = checkOf(name);
  if (check.Check(value)) return value as AttachControl;
  const fault = check.Errors(value).First();
  return { about: name, error: fault ? explain(fault) : unknownType() };
}

function notJson(): GatewayError {
  return new GatewayError('invalid_json', 'The message is not JSON: send one object.');
}

function unknownType(): GatewayError {
  return new GatewayError('invalid_request', `type must be one of ${NAMES.join(', ')}.`, { field: 'type', allowed: NAMES });
}
