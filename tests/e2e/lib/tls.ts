// Certificates made on the spot with the openssl program, and a TLS front for the simulated provider.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';

export interface Pair {
  certificate: string; // files
  key: string;
}

export class Certificates {
  readonly folder = mkdtempSync(join(tmpdir(), 'queqiao-tls-'));
  readonly caFile = join(this.folder, 'ca.pem');

  constructor() {
    const { folder } = this;
    this.openssl('req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=tests-ca -keyout ca.key -out ca.pem');
    writeFileSync(join(folder, 'index.txt'), '');
    writeFileSync(
      join(folder, 'ca.cnf'),
      `[ca]\ndefault_ca=d\n[d]\ndir=${folder}\nnew_certs_dir=${folder}\ndatabase=${folder}/index.txt\nserial=${folder}/serial\n` +
        `rand_serial=yes\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\nunique_subject=no\n[p]\ncommonName=supplied\n`,
    );
  }

  // For these names, signed by the authority of this folder.
  signed(name: string, hosts: string, valid: { from: Date; until: Date } = { from: days(-1), until: days(2) }): Pair {
    this.openssl(
      `req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=${name} -addext subjectAltName=${hosts} ` +
        `-keyout ${name}.key -out ${name}.csr`,
    );
    this.openssl(
      `ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in ${name}.csr -out ${name}.pem -notext ` +
        `-startdate ${stamp(valid.from)} -enddate ${stamp(valid.until)}`,
    );
    return { certificate: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
  }
  selfSigned(name: string, hosts: string): Pair {
    this.openssl(
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name} ` +
        `-addext subjectAltName=${hosts} -keyout ${name}.key -out ${name}.pem`,
    );
    return { certificate: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
  }
  get ca(): string {
    return readFileSync(this.caFile, 'utf8');
  }
  stop(): Promise<void> {
    rmSync(this.folder, { recursive: true });
    return Promise.resolve();
  }

  private openssl(args: string): void {
    execFileSync('openssl', args.split(' '), { cwd: this.folder, stdio: 'pipe' });
  }
}

const days = (count: number) => new Date(Date.now() + count * 86_400_000);
const stamp = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z').replace(/[-:T]/g, '');
export const expired = { from: days(-3), until: days(-1) };

export interface Front {
  port: number;
  handshakes(): number;
  resumed(): number;
  stop(): Promise<void>;
}

// Speaks TLS with `pair` and hands the bytes on to `port` of the loopback.
export async function tlsFront(pair: Pair, port: number): Promise<Front> {
  let handshakes = 0;
  let resumed = 0;
  const open = new Set<TLSSocket>();
  const server = createServer(
    { cert: readFileSync(pair.certificate), key: readFileSync(pair.key) },
    (socket: TLSSocket) => {
      handshakes += 1;
      if (socket.isSessionReused()) resumed += 1;
      open.add(socket);
      const inner = connect(port, '127.0.0.1');
      socket.pipe(inner).pipe(socket);
      socket.on('error', () => inner.destroy());
      inner.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(socket);
        inner.destroy();
      });
    },
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    handshakes: () => handshakes,
    resumed: () => resumed,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
