import type { JSX } from 'preact';
import { bytesText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { dropUpload, replaceByUpload, type Upload, uploads } from './uploads.js';

/** What is on its way to the gateway, and what became of it. */
export function UploadList(): JSX.Element | null {
  if (uploads.value.length === 0) return null;
  return (
    <ul class="uploads" aria-label="Uploads">
      {uploads.value.map((upload) => (
        <li key={upload.id}>
          <span class="upload-name" title={upload.file.name}>
            {upload.file.name}
          </span>
          <Progress upload={upload} />
          {upload.state === 'exists' && (
            <button type="button" class="small" onClick={() => void replaceByUpload(upload)}>
              Replace
            </button>
          )}
          <button
            type="button"
            class="quiet small"
            aria-label={`${upload.state === 'sending' ? 'Give up' : 'Put away'}: ${upload.file.name}`}
            onClick={() => dropUpload(upload)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Progress({ upload: { file, sent_bytes, state, failure } }: { upload: Upload }): JSX.Element {
  switch (state) {
    case 'exists':
      return <span class="upload-state warn">There is one of this name already.</span>;
    case 'failed':
      return <span class="upload-state bad">{failure}</span>;
    case 'done':
      return <span class="upload-state">Uploaded, {bytesText(file.size)}</span>;
    default:
      return (
        <span class="upload-state">
          <progress max={Math.max(1, file.size)} value={sent_bytes} aria-label={`Upload of ${file.name}`} />
          {bytesText(sent_bytes)} of {bytesText(file.size)}
        </span>
      );
  }
}
