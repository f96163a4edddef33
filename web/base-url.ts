/** Where the gateway is: the folder this page came from, so that a prefix of a proxy stays. Without a slash at the end. */
export const BASE_URL = new URL('.', window.location.href).href.replace(/[/]+$/, '');
