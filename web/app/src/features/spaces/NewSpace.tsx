import { useState } from 'react'

import { t } from '../../language/words.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Plus } from '../../ui/icons.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'

export const NewSpaceForm = lazyPart(() => import('./NewSpaceForm.tsx'))

/** A plus icon, or a full button with `label`. */
export function NewSpace({ label }: { label?: string }) {
  const [open, setOpen] = useState(false)
  const show = () => setOpen(true)
  return (
    <>
      {label ? <Button look="primary" onClick={show}>{label}</Button> : <IconButton label={t('New space')} onClick={show}><Plus /></IconButton>}
      {open && <Dialog title={t('New space')} onClose={() => setOpen(false)}><NewSpaceForm onDone={() => setOpen(false)} /></Dialog>}
    </>
  )
}
