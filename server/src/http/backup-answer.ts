/**
 * `/api/v1/backup`: the state of the member for `rookery backup save`, as it is on its disk.
 *
 * It has the data of every znode, whatever its ACL says, so the router leaves it to users of the
 * admin port who may do more than read. One at a time.
 */
import type { Zxid } from '@rookery/protocol';
import { encodedBackup, type StreamedBackup } from '../offline/backup-stream.js';
import { HttpError } from './http-error.js';
import type { HttpAnswer } from './http-port.js';

export interface BackupMember {
  openBackup(): Promise<StreamedBackup & { close(): Promise<void> }>;
}

export class BackupAnswers {
  readonly #member: BackupMember;
  #isUnderWay = false;

  constructor(member: BackupMember) {
    this.#member = member;
  }

  /** Throws HttpError while another one is being taken. */
  async answer(): Promise<{ readonly answer: HttpAnswer; readonly zxid: Zxid }> {
    if (this.#isUnderWay) throw new HttpError(429, 'Another backup is being taken.');
    this.#isUnderWay = true;
    try {
      const source = await this.#member.openBackup();
      const headers = { 'x-rookery-zxid': `0x${source.zxid.toString(16)}` };
      const close = async (): Promise<void> => {
        this.#isUnderWay = false;
        await source.close();
      };
      const body = encodedBackup(source);
      const type = 'application/octet-stream';
      return { answer: { status: 200, type, body, close, headers }, zxid: source.zxid };
    } catch (error) {
      this.#isUnderWay = false;
      throw error;
    }
  }
}
