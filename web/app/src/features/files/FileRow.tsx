import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { dot } from '../../ui/format.ts'
import { Download, FileIcon } from '../../ui/icons.tsx'
import { kindOf, sizeOf } from './kinds.ts'

/** A file with its kind and size. A click downloads it: for files that have no preview. */
export function FileRow({ file }: { file: FileInfo }) {
  const { client } = useStore()
  return (
    <a
      href={client.files.url(file.id)}
      download={file.name}
      className="flex max-w-full items-center gap-2.5 rounded-md border border-line bg-paper-high px-2.5 py-1.5 text-small hover:bg-hover"
    >
      <FileIcon className="size-5 shrink-0 text-ink-soft" />
      <span className="unseen">{t('Download')}</span>
      <span className="min-w-0 flex-1 leading-tight">
        <bdi className="block truncate text-along font-medium">{file.name}</bdi>
        <span className="block text-tiny text-ink-soft">{kindOf(file)}{dot()}{sizeOf(file.bytes)}</span>
      </span>
      <Download className="size-4 shrink-0 text-ink-soft" />
    </a>
  )
}
