/** Text as a message shows it: in quotes, and cut when it is long. @param most characters that are shown */
export function quoted(text: string, most = 200): string {
  return text.length > most ? `${JSON.stringify(text.slice(0, most))}…` : JSON.stringify(text);
}
