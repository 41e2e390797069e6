//! Signs tokens by hand, so that tests can also sign what no library would.

use aws_lc_rs::{
    hmac,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
        RsaPublicKeyComponents,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as B64};
use serde_json::{Value, json};

pub struct Signer {
    pub kid: String,
    pair: Pair,
}

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    pub fn rs256(kid: &str) -> Self {
        Self { kid: kid.to_owned(), pair: Pair::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()) }
    }

    pub fn es256(kid: &str) -> Self {
        Self { kid: kid.to_owned(), pair: Pair::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()) }
    }

    pub fn eddsa(kid: &str) -> Self {
        Self { kid: kid.to_owned(), pair: Pair::Ed(Ed25519KeyPair::generate().unwrap()) }
    }

    fn alg(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
        }
    }

    pub fn jwk(&self) -> Value {
        let mut jwk = json!({"kid": self.kid, "use": "sig", "alg": self.alg()});
        let of_key = match &self.pair {
            Pair::Rsa(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({"kty": "RSA", "n": B64.encode(public.n), "e": B64.encode(public.e)})
            }
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": B64.encode(&point[1..33]), "y": B64.encode(&point[33..65])})
            }
            Pair::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": B64.encode(pair.public_key().as_ref())})
            }
        };
        jwk.as_object_mut().unwrap().extend(of_key.as_object().unwrap().clone());
        jwk
    }

    pub fn token(&self, claims: &Value) -> String {
        self.token_with(&json!({"typ": "at+jwt", "alg": self.alg(), "kid": self.kid}), claims)
    }

    pub fn token_with(&self, header: &Value, claims: &Value) -> String {
        jws(header, claims, |message| self.sign(message))
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// Algorithm confusion: HMAC keyed with what is public about this key, in the forms attackers try.
    pub fn confused_tokens(&self, claims: &Value) -> Vec<String> {
        let header = json!({"typ": "JWT", "alg": "HS256", "kid": self.kid});
        let jwk = self.jwk();
        let mut keys = vec![jwk.to_string().into_bytes()];
        if let Pair::Rsa(pair) = &self.pair {
            let public = pair.public_key();
            let der: aws_lc_rs::encoding::PublicKeyX509Der<'_> = aws_lc_rs::encoding::AsDer::as_der(public).unwrap();
            let pem = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
            keys.push(format!("-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----\n").into_bytes());
            keys.push(der.as_ref().to_vec());
            keys.push(public.as_ref().to_vec());
            keys.push(jwk["n"].as_str().unwrap().as_bytes().to_vec());
        }
        let with = |key: Vec<u8>| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
            jws(&header, claims, |message| hmac::sign(&key, message).as_ref().to_vec())
        };
        keys.into_iter().map(with).collect()
    }
}

pub fn jws(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", B64.encode(header.to_string()), B64.encode(claims.to_string()));
    let signature = B64.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}
