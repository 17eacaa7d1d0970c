import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { dot } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { kindOf, sizeOf } from './kinds.ts'
import { Player } from './Player.tsx'
import { previewOf } from './previews.ts'
import { FileText } from './FileText.tsx'

const PdfPages = lazyPart(() => import('./PdfPages.tsx'))

/** A file as large as the window allows. */
export default function FileViewer({ file, onClose }: { file: FileInfo; onClose: () => void }) {
  const { client } = useStore()
  return (
    <Dialog title={file.name} onClose={onClose} className="top-[4vh]! flex max-h-[92vh]! max-w-[60rem] flex-col overflow-hidden!">
      <div className="min-h-0 flex-1 mt-3 overflow-auto border-y border-line"><Content file={file} /></div>
      <p className="flex items-center gap-4 px-5 py-2.5 text-small text-ink-soft">
        <span className="flex-1">{kindOf(file)}{dot()}{sizeOf(file.bytes)}</span>
        <a className="rounded-sm text-link underline underline-offset-4" href={client.files.url(file.id)} download={file.name}>{t('Download')}</a>
      </p>
    </Dialog>
  )
}

function Content({ file }: { file: FileInfo }) {
  const preview = previewOf(file)
  if (preview === 'audio') return <Player file={file} kind="audio" className="w-full" />
  if (preview === 'video') return <Player file={file} kind="video" className="max-h-[74vh] w-full" />
  if (preview === 'pdf') return <PdfPages file={file} />
  return <FileText file={file} as={preview ?? 'text'} />
}
