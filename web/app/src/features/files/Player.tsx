import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'

/** The browser's own player. It reads the file in ranges. `metadata` shows the first frame of a video. */
export function Player({ file, kind: Kind, preload = 'metadata', className = '' }: { file: FileInfo; kind: 'audio' | 'video'; preload?: 'none' | 'metadata'; className?: string }) {
  const { client } = useStore()
  const [failed, setFailed] = useState(false)
  if (failed) return <p className="p-3 text-ink-soft">{t('This browser cannot play the file. Download it to open it with another program.')}</p>
  return (
    <Kind
      src={client.files.url(file.id)}
      controls
      playsInline={Kind === 'video' ? true : undefined}
      preload={preload}
      aria-label={file.name}
      className={`${Kind === 'video' ? 'bg-film object-contain' : 'px-2 py-1'} ${className}`}
      onError={() => setFailed(true)}
    />
  )
}
