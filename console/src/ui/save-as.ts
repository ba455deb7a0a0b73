/**
 * Gives bytes to the browser as a file to save.
 */
export function saveAs(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  // A name on disk has neither slashes nor controls.
  link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 100) || 'data';
  link.click();
  URL.revokeObjectURL(address);
}
