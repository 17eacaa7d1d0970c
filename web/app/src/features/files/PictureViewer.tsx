import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState, type KeyboardEvent } from 'react'

import { isRightToLeft } from '../../language/language.ts'
import { t } from '../../language/words.ts'
import { Dialog } from '../../ui/Dialog.tsx'
import { dot } from '../../ui/format.ts'
import { sizeOf } from './kinds.ts'

const LINK = 'rounded-sm text-link underline underline-offset-4'

/** A picture as large as the window allows. Arrow keys go to the others of the message. */
export default function PictureViewer({ pictures, start, onClose }: { pictures: readonly FileInfo[]; start: string; onClose: () => void }) {
  const { client } = useStore()
  const [n, setN] = useState(() => Math.max(0, pictures.findIndex((file) => file.id === start)))
  // A deleted message takes its pictures out of the list.
  const file = pictures[Math.min(n, pictures.length - 1)]
  const step = (by: number) => setN((now) => (now + by + pictures.length) % pictures.length)
  const onKeyDown = (event: KeyboardEvent) => {
    const onwards = isRightToLeft() ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') step(event.key === onwards ? 1 : -1)
  }
  if (!file) return null
  return (
    // Also keys that are pressed on the dialog's own buttons come here, because React's events leave a portal.
    <div className="contents" onKeyDown={onKeyDown}>
    <Dialog title={file.name} onClose={onClose} className="top-[4vh]! max-h-[92vh]! w-fit max-w-[94vw]">
      <div className="space-y-2 p-5 pt-2">
        <img src={client.files.url(file.id)} alt={file.name} className="mx-auto max-h-[74vh] max-w-full object-contain" />
        <p className="flex flex-wrap items-center gap-x-4 text-small text-ink-soft">
          <span className="flex-1">{file.width && file.height ? `${file.width} × ${file.height}${dot()}` : ''}{sizeOf(file.bytes)}</span>
          {pictures.length > 1 && (
            <>
              <button type="button" className={LINK} onClick={() => step(-1)}>{t('Previous')}</button>
              <span className="tabular-nums">{t('{part} of {whole}', { part: n + 1, whole: pictures.length })}</span>
              <button type="button" className={LINK} onClick={() => step(1)}>{t('Next')}</button>
            </>
          )}
          <a className={LINK} href={client.files.url(file.id)} download={file.name}>{t('Download')}</a>
        </p>
      </div>
    </Dialog>
    </div>
  )
}
