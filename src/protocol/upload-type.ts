/** The media type of a part (tus 1.0). */
export const UPLOAD_TYPE = 'application/offset+octet-stream';
