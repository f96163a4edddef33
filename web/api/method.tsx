import type { JSX } from 'preact';

/** The method of a call; each kind has its colour. */
export const Method = ({ method }: { method: string }): JSX.Element => <span class={`method ${method.toLowerCase()}`}>{method}</span>;
