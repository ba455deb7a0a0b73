/** Joins the settings of several keys: objects key by key, lists without what occurs twice. */
export function joinSettings(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const joined: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = joined[name];
    if (Array.isArray(before) && Array.isArray(value)) {
      joined[name] = [...new Set<unknown>([...before, ...value])];
    } else if (isObject(before) && isObject(value)) joined[name] = joinSettings(before, value);
    else joined[name] = value;
  }
  return joined;
}

/** The paths of all settings, such as `tls.certFile`. */
export function settingNames(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (!isObject(value) || Object.keys(value).length === 0) return [name];
    return settingNames(value).map((inner) => `${name}.${inner}`);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
