/** The address that a server prints when it takes connections; its further output is passed over. */
export async function listening(stdout) {
  let told = '';
  for await (const text of stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    told += text;
    const [found] = told.match(/http:\/\/127\.0\.0\.1:\d+/) ?? [];
    if (!found) continue;
    stdout.resume();
    return found;
  }
  throw new Error('The server ended before it took connections.');
}
