/**
 * Reads Prometheus's text format, version 0.0.4, and complains of whatever breaks its rules.
 *
 * Only imported by tests.
 */
export interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  /** By name with labels, as it is printed. */
  readonly series: ReadonlyMap<string, number>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (\\S+)$`);
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  gauge: [''],
  counter: [''],
  summary: ['', '_sum', '_count'],
  histogram: ['_bucket', '_sum', '_count'],
};

export function readExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line ends with a newline');
  const types = new Map<string, string>();
  const series = new Map<string, number>();
  let current = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const type = new RegExp(`^# TYPE (${NAME}) (gauge|counter|summary|histogram)$`).exec(line);
    if (type !== null) {
      const [, name = '', kind = ''] = type;
      if (types.has(name)) throw new Error(`${name} has a type twice`);
      types.set(name, kind);
      current = name;
      continue;
    }
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`not a sample: ${line}`);
    const kind = types.get(current) ?? '';
    if (!SUFFIXES[kind]?.some((suffix) => name === current + suffix)) {
      throw new Error(`${name} stands under ${current}, a ${kind}`);
    }
    const key = name + labels;
    if (series.has(key)) throw new Error(`${key} is there twice`);
    if (Number.isNaN(Number(value.replace('Inf', 'Infinity'))))
      throw new Error(`no number: ${line}`);
    series.set(key, Number(value));
  }
  return { types, series };
}
