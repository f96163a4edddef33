/** The values of one moment, summed over their labels, by name. */
export type Metrics = ReadonlyMap<string, number>;

/** A sample: its name, its labels if it has some, its value. A time may follow. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?\s+(\S+)/;

const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus (version 0.0.4). What is no number, as NaN says, is left out. */
export function readMetrics(text: string): Metrics {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, , written = ''] = SAMPLE.exec(line) ?? [];
    const value = Number(written);
    if (name !== undefined && !Number.isNaN(value)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

/** The label of the first sample of a name; null when there is none. */
export function labelOf(text: string, metric: string, label: string): string | null {
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = SAMPLE.exec(line) ?? [];
    if (name !== metric) continue;
    for (const [, key, value = ''] of labels.matchAll(LABEL)) if (key === label) return unescaped(value);
  }
  return null;
}

const unescaped = (value: string) => value.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
