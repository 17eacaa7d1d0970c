import { useMe, useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Close, FileIcon } from '../../ui/icons.tsx'
import { detach, retryUpload, type Attachment } from './attachments.ts'
import { isPicture, sizeOf } from './kinds.ts'

/** The files of the draft, above the text. */
export function AttachmentList({ spaceId, attachments }: { spaceId: string; attachments: readonly Attachment[] }) {
  const { client } = useStore()
  const me = useMe()!
  if (attachments.length === 0) return null
  return (
    <ul aria-label={t('Files to send')} className="flex max-h-40 flex-wrap gap-2 overflow-y-auto p-2 pb-0">
      {attachments.map((each) => (
        <li key={each.key} aria-label={each.name} className="relative flex w-full items-center gap-2 overflow-hidden rounded-md border border-line bg-paper py-1.5 pe-1 ps-2 text-small md:w-60">
          <Preview attachment={each} />
          <span className="min-w-0 flex-1 leading-tight">
            <bdi className="block truncate text-along" title={each.name}>{each.name}</bdi>
            <span role={each.status === 'failed' ? 'alert' : undefined} className={`block text-tiny ${each.status === 'failed' ? 'break-words text-bad' : 'truncate text-ink-soft'}`}>{stateOf(each)}</span>
          </span>
          {each.status === 'failed' && each.retryable && <button type="button" className="rounded-sm px-1 text-link underline underline-offset-4" onClick={() => retryUpload(client, me.id, spaceId, each.key)}>{t('Retry')}</button>}
          <IconButton label={each.status === 'done' || each.status === 'failed' ? t('Remove {name}', { name: each.name }) : t('Cancel upload of {name}', { name: each.name })} className="size-7" onClick={() => detach(client, me.id, spaceId, each.key)}><Close className="size-4" /></IconButton>
          {each.status === 'uploading' && (
            <span role="progressbar" aria-label={t('Upload of {name}', { name: each.name })} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent(each)} className="absolute inset-x-0 bottom-0 h-0.5 bg-line">
              <span className="block h-full bg-link transition-[width]" style={{ width: `${percent(each)}%` }} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function Preview({ attachment: { file } }: { attachment: Attachment }) {
  const { client } = useStore()
  if (file && isPicture(file)) return <img src={client.files.url(file.id)} alt="" className="size-9 shrink-0 rounded-sm object-cover" />
  return <FileIcon className="size-5 shrink-0 text-ink-soft" />
}

function stateOf(attachment: Attachment): string {
  if (attachment.status === 'failed') return attachment.problem ?? t('The upload failed')
  if (attachment.status === 'waiting') return t('Waiting')
  return attachment.status === 'uploading' ? t('{percent} % of {size}', { percent: percent(attachment), size: sizeOf(attachment.bytes) }) : sizeOf(attachment.bytes)
}

const percent = ({ progress }: Attachment): number => Math.round(progress * 100)
