import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { changes, processes } from '../processes/process-store.js';
import { commandOf } from '../processes/process-view.js';
import { type Filled, isBrowsersOwn, keyOf } from './call-request.js';
import { inline } from './prose.js';
import { defaultText, schemaText } from './schema-text.js';
import type { Parameter } from './spec.js';

interface ParameterFieldsProps {
  parameters: Parameter[];
  filled: Filled;
  onChange: (part: Partial<Filled>) => void;
}

/** A field for each parameter, with what it may be. An empty one is not sent. */
export function ParameterFields({ parameters, filled, onChange }: ParameterFieldsProps): JSX.Element {
  const set = (parameter: Parameter, value: string) => onChange({ values: { ...filled.values, [keyOf(parameter)]: value } });
  return (
    <section class="part" aria-labelledby="parameters-title">
      <h2 id="parameters-title">Parameters</h2>
      <ul class="parameters">
        {parameters.map((parameter) => (
          <li key={keyOf(parameter)}>
            <Field parameter={parameter} value={filled.values[keyOf(parameter)] ?? ''} onInput={(value) => set(parameter, value)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FieldProps {
  parameter: Parameter;
  value: string;
  onInput: (value: string) => void;
}

function Field({ parameter, value, onInput }: FieldProps): JSX.Element {
  const { name, in: place, required = false, description = '', schema } = parameter;
  const id = useId();
  return (
    <>
      <div class="about-field">
        <p class="schema-line">
          <label class="name mono" for={id}>
            {name}
          </label>
          {required && <span class="needed">required</span>}
          <span class="type mono">
            {place === 'query' ? '' : `${place}, `}
            {schemaText(schema)}
          </span>
        </p>
        <p class="hint" id={`${id}-hint`}>
          {inline(description)}
          {schema.type === 'array' && ' One value in each line.'}
          {isBrowsersOwn(parameter) && name === 'Accept-Encoding' && ' Browsers send their own; this one is for the curl line.'}
        </p>
      </div>
      <Control parameter={parameter} value={value} onInput={onInput} id={id} />
    </>
  );
}

function Control({ parameter, value, onInput, id }: FieldProps & { id: string }): JSX.Element {
  const { name, schema, required = false, example } = parameter;
  const shared = { id, 'aria-describedby': `${id}-hint`, required };
  const options = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String);
  const common = defaultText(schema);
  if (options !== undefined) {
    return (
      <select {...shared} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        <option value="">{common === null ? 'not sent' : `default: ${common}`}</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  const hint = common === null ? (example === undefined ? '' : `such as ${example}`) : `default: ${common}`;
  if (schema.type === 'array') {
    return <textarea {...shared} class="mono" rows={2} value={value} onInput={(event) => onInput(event.currentTarget.value)} />;
  }
  const known = name === 'process_id' ? `${id}-known` : undefined;
  return (
    <div>
      <input
        {...shared}
        class="mono"
        type="text"
        inputmode={schema.type === 'integer' ? 'numeric' : 'text'}
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        value={value}
        list={known}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {known !== undefined && <KnownProcesses id={known} />}
    </div>
  );
}

const MAX_KNOWN = 100;

/** The newest processes, to choose from. */
function KnownProcesses({ id }: { id: string }): JSX.Element {
  void changes.value;
  const newest = [...processes.values()].slice(-MAX_KNOWN).reverse();
  return (
    <datalist id={id}>
      {newest.map((process) => (
        <option key={process.process_id} value={process.process_id}>
          {commandOf(process).slice(0, 60)}
        </option>
      ))}
    </datalist>
  );
}
