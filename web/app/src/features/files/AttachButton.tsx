import { useRef } from 'react'

import { t } from '../../language/words.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Paperclip } from '../../ui/icons.tsx'

export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton label={t('Attach files')} onClick={() => input.current?.click()}><Paperclip /></IconButton>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('Files to attach')}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          // The same file can be chosen again.
          event.target.value = ''
        }}
      />
    </>
  )
}
