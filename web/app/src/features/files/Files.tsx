import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { FileCard } from './FileCard.tsx'
import { FileRow } from './FileRow.tsx'
import { isPicture } from './kinds.ts'
import { pictureSize } from './pictureSize.ts'
import { previewOf } from './previews.ts'

export const PictureViewer = lazyPart(() => import('./PictureViewer.tsx'), { over: true })

/** The files of a message: pictures within bounds, which a click enlarges, and a row for each other file, with a glimpse of it if it can be shown. */
export function Files({ files }: { files: readonly FileInfo[] }) {
  const [shown, setShown] = useState<string | null>(null)
  const pictures = files.filter(isPicture)
  const others = files.filter((file) => !isPicture(file))
  return (
    <div className="mt-1 space-y-2">
      {pictures.length > 0 && (
        <ul aria-label={t('Pictures')} className="flex flex-wrap gap-2">
          {pictures.map((file) => <li key={file.id} className="max-w-full"><Picture file={file} onOpen={() => setShown(file.id)} /></li>)}
        </ul>
      )}
      {others.length > 0 && (
        <ul aria-label={t('Files')} className="max-w-md space-y-1.5">
          {others.map((file) => <li key={file.id}>{previewOf(file) ? <FileCard file={file} /> : <FileRow file={file} />}</li>)}
        </ul>
      )}
      {shown && <PictureViewer pictures={pictures} start={shown} onClose={() => setShown(null)} />}
    </div>
  )
}

/** Its place has the right size before it is loaded, so that nothing moves. */
function Picture({ file, onOpen }: { file: FileInfo; onOpen: () => void }) {
  const { client } = useStore()
  const [failed, setFailed] = useState(false)
  const { width, height } = pictureSize(file)
  if (failed) return <FileRow file={file} />
  return (
    <button type="button" aria-label={t('Enlarge {name}', { name: file.name })} className="block max-w-full cursor-zoom-in overflow-hidden rounded-md border border-line bg-paper-low" onClick={onOpen}>
      <img
        src={client.files.url(file.id)}
        alt={file.name}
        width={width}
        height={height}
        loading="lazy"
        decoding="async"
        className="h-auto max-w-full object-contain"
        onError={() => setFailed(true)}
      />
    </button>
  )
}
