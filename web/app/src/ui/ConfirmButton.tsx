import { useState } from 'react'

import { Button } from './Button.tsx'

/** Asks for a second click before it acts. */
export function ConfirmButton({ label, confirm, onConfirm, look = 'bad' }: { label: string; confirm: string; onConfirm: () => void; look?: 'bad' | 'plain' }) {
  const [asked, setAsked] = useState(false)
  return asked ? <Button look="bad" onClick={onConfirm}>{confirm}</Button> : <Button look={look} onClick={() => setAsked(true)}>{label}</Button>
}
