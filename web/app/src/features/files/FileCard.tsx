import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { dot } from '../../ui/format.ts'
import { Download, FileIcon } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { kindOf, sizeOf } from './kinds.ts'
import { heightBelow, previewOf } from './previews.ts'

const FileViewer = lazyPart(() => import('./FileViewer.tsx'), { over: true })
const Glimpse = lazyPart(() => import('./Glimpse.tsx'))

/** A file that can be shown: a row that opens it, with a glimpse of the content below, and a download. */
export function FileCard({ file, glimpse = true }: { file: FileInfo; glimpse?: boolean }) {
  const { client } = useStore()
  const [open, setOpen] = useState(false)
  return (
    <div className="max-w-full overflow-hidden rounded-md border border-line bg-paper-high text-small">
      <div className="flex items-center pe-1">
        <button type="button" className="flex min-w-0 flex-1 items-center gap-2.5 px-2.5 py-1.5 text-start -outline-offset-2! hover:bg-hover" onClick={() => setOpen(true)}>
          <FileIcon className="size-5 shrink-0 text-ink-soft" />
          <span className="unseen">{t('Show')}</span>
          <span className="min-w-0 flex-1 leading-tight">
            <bdi className="block truncate text-along font-medium">{file.name}</bdi>
            <span className="block text-tiny text-ink-soft">{kindOf(file)}{dot()}{sizeOf(file.bytes)}</span>
          </span>
        </button>
        <a href={client.files.url(file.id)} download={file.name} aria-label={t('Download {name}', { name: file.name })} title={t('Download')} className="grid size-9 shrink-0 place-items-center rounded-md text-ink-soft -outline-offset-2! hover:bg-hover hover:text-ink">
          <Download className="size-4" />
        </a>
      </div>
      {glimpse && previewOf(file) !== 'pdf' && (
        <div className="border-t border-line" style={{ height: heightBelow(file) }}><Glimpse file={file} onOpen={() => setOpen(true)} /></div>
      )}
      {open && <FileViewer file={file} onClose={() => setOpen(false)} />}
    </div>
  )
}
